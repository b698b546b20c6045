"""Builders and real parts that tests share."""
