"""What the commands know of pictures: features, classifiers that are trained, prototypes that are described."""
