package attack_test

// chains lists what is tried, in this order: controllerOfAFormerInstallation ends the installation that those before it need, and begins
// another.
var chains = []chain{
	{"image to an installed cluster", imageTakesInstalledCluster},
	{"image to its address, prolonged", imageProlongsItsAddress},
	{"image of a deleted InfraEnv to the next", imageOfADeletedEnvironment},
	{"address to other places and objects", addressOpensOtherThings},
	{"signed address to another file", signedAddressOpensAnother},
	{"host to others of its InfraEnv", hostSpeaksForAnother},
	{"host to another host's registration", hostBecomesAnother},
	{"bootstrap host after its boot", bootstrapHostAfterItsBoot},
	{"controller to the next installation", controllerOfAFormerInstallation},
	{"viewer to secrets", viewerReadsEverything},
	{"viewer to administrator", viewerPromotesHimself},
	{"tenant to foreign objects by reference", tenantRefersToForeignObjects},
	{"tenant to foreign images", tenantUsesItsAddressForForeignImages},
	{"page of another site to commands", siteCommandsThroughABrowser},
	{"user to the workflows of all", userCommandsWorkflows},
	{"revoked token to what it made", tokenLivesOnInWhatItMade},
	{"one token in many writings", tokenInOtherWritingsIsCountedAnew},
	{"user of the machine to the service", otherUserOfTheMachine},
	{"writer of the database to administrator", writerOfTheDatabasePromotesATokenOfHis},
	{"host to terminals, pages and logs", hostWritesOnTerminals},
	{"image names to services of the machine", registryLeadsToTheServicesMachine},
}
