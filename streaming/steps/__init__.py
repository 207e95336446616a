"""Tables that plain Python folds, event by event: their events are few and their rules many."""
