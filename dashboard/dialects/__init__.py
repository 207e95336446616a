"""What other tools ask and are asked, in their own words: Burrow, and the names of exporters."""
