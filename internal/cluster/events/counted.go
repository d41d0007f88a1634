package events

// DiskSpeedMeasured names what is counted and not told (store.Tx.Count): how long a disk
// takes to sync.
const DiskSpeedMeasured = "disk_speed_measured"
