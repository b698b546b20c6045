"""The rules of operations: keys, states, what a failure means, and the way back."""
