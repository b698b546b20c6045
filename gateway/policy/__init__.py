"""The policy language: YAML rules with CEL conditions, and what can be asked of them."""
