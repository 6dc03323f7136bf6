"""Pallas, From the Inside: the tool that builds the site."""
