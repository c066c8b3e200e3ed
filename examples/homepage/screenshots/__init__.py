"""Pictures of other people's pages: one browser a picture, behind a proxy that leads to public addresses only."""
