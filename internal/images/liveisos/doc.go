// Package liveisos keeps the live ISOs of the operating system on disk that discovery
// images are made of.
//
// Images come from two sides. Listed images, from the settings, are downloaded in the
// background, or used in place when they are files of this machine; each stands for
// itself, so that a bad one stops no other. Added images are in the folder
// already, and are found while the service runs. An added image takes the place of a
// listed one for the same version, architecture and type.
//
// The folder holds, for an image named N.iso:
//
//	N.iso            the image, whole and checked
//	N.iso.json       what it is, and its digest
//	N.iso.part       as much of it as was downloaded so far
//	N.iso.part.json  where that is from, and how much of it is safely on disk
//	.N.iso.lock      held by the process that writes it
//
// A file without its JSON belongs to somebody else: it is neither used nor removed.
package liveisos
