"""Joint reactions at a state, and what determines them."""
