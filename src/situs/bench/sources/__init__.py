"""From evidence files back to the ledgers of a bench, source by source."""
