"""Many stops on all cores or a cluster."""
