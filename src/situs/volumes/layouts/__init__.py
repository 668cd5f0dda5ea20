"""How studies lie in folders: finding images and the labels that belong to them."""
