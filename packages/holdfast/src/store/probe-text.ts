/** What a probe writes: enough that an ordinary append finds room too, little enough to write twice a second. */
export const probeText = '0'.repeat(64 * 1024)
