touch OWNED
