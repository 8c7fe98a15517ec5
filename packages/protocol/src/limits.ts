/**
 * The bounds that someone outside can meet, or that two places must agree on, with the unit in the name. What bounds one
 * file alone is a named constant of that file.
 */
export const limits = {
  promptBytesMax: 1024 * 1024,
  promptPartsMax: 64,
  promptsQueuedMax: 64,
  requestBodyBytesMax: 4 * 1024 * 1024,
  jsonDepthMax: 100,
  stepsPerTurnMax: 100,
  callsPerRoundMax: 64,
  callArgsBytesMax: 1024 * 1024,
  toolOutputInlineBytesMax: 16 * 1024,
  toolOutputBytesMax: 64 * 1024 * 1024,
  toolPathCharsMax: 4096,
  shellCommandBytesMax: 100_000,
  readFileBytesMax: 256_000,
  editedFileBytesMax: 4 * 1024 * 1024,
  directoryEntriesMax: 2000,
  workdirInstructionsBytesMax: 32 * 1024,
  blobBytesMax: 64 * 1024 * 1024,
  pageMessagesMax: 500,
  pageRecordsMax: 1000,
  listSessionsMax: 1000,
  prefixMatchesMax: 10,
  frameBufferBytesMax: 1024 * 1024,
  snapshotMessages: 100,
  snapshotEveryRecords: 256,
  draftSaveMs: 1000,
  heartbeatMs: 15_000,
  /** How long an attachment keeps its seat without a stream, and how many may do so at once. */
  seatKeptMs: 30_000,
  seatsKeptMax: 100,
  /** How much news may wait for a reader before it is cut. */
  newsWaitingMax: 10_000,
  providerSilenceMs: 120_000,
  shellTimeoutMs: 30_000,
  shellTimeoutMsMax: 300_000,
  /** What a timer can hold. */
  approvalTimeoutMsMax: 2 ** 31 - 1,
  providerOptionsCharsMax: 65_536,
  idleUnloadMs: 15 * 60_000,
  titleCharsMax: 80,
  previewCharsMax: 80,
  recentTextCharsMax: 240,
  recentTextMessages: 6,
} as const
