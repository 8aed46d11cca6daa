"""The pages that show packs and runs, opened in a real browser."""
