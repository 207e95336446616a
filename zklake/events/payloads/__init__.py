"""What the data of each znode kind says: one file per family, with its kinds and samples."""
