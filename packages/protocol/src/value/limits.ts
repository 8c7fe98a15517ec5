/**
 * The bounds that someone outside can meet, or that two places must agree on, with the unit in the name. What bounds one
 * file alone is a named constant of that file.
 */
export const limits = {
  promptBytesMax: 1024 * 1024,
  promptPartsMax: 64,
  promptsQueuedMax: 64,
  clientEventIdCharsMax: 200,
  clientEventCharsMax: 1024 * 1024,
  seedMessagesMax: 10_000,
  branchesMax: 200,
  lineSpansMax: 1000,
  pinsMax: 100,
  /** Of what is folded or open against the rule, the newest are remembered. */
  collapsesMax: 1000,
  /** Pins may fill this part of a model's context. */
  pinnedPart: 0.25,
  /** Beyond this part of a model's context the past is summarised; after an undo it waits for the second. */
  compactAt: 0.8,
  compactAgainAt: 0.95,
  /** What a model is taken to hold when nobody knows. */
  contextTokens: 200_000,
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
  /** Of each memory: what a model is told of it, and how far the agent may let it grow. */
  memoryBytesMax: 16 * 1024,
  memoryNoteCharsMax: 2000,
  blobBytesMax: 64 * 1024 * 1024,
  /** Of a file that is sent to a server to be imported: some forms are parsed in one go, beside sessions that stream. */
  importBytesMax: 64 * 1024 * 1024,
  /** Of a file that goes to a model as it is. Providers take 32 MB in one request, in Base64. */
  fileBytesMax: 20_000_000,
  /** 5 MB in Base64, where providers begin to refuse; beyond the edge they would scale an image down themselves. */
  imageBytesMax: 3_750_000,
  imageEdgeMax: 1568,
  imagePixelsMax: 100_000_000,
  textFileBytesMax: 256 * 1024,
  requestFilesBytesMax: 20_000_000,
  requestFilesMax: 100,
  pageMessagesMax: 500,
  pageRecordsMax: 1000,
  listSessionsMax: 1000,
  /** How many sessions of a tree are counted together. */
  treeSessionsMax: 10_000,
  searchHitsMax: 1000,
  /** How many of those that a removal took are named; all are counted. */
  removalNamesMax: 1000,
  /** How long what was deleted can be had back. */
  trashKeptMs: 30 * 24 * 3_600_000,
  /** Bytes that nothing refers to are kept this long: something may be about to. */
  blobGraceMs: 24 * 3_600_000,
  prefixMatchesMax: 10,
  frameBufferBytesMax: 1024 * 1024,
  snapshotMessages: 100,
  snapshotEveryRecords: 256,
  draftSaveMs: 1000,
  heartbeatMs: 15_000,
  /** How long an attachment keeps its seat without a stream, and how many may do so at once. */
  detachedClientMs: 30_000,
  detachedClientsMax: 100,
  /** How much news may wait for a reader before it is cut. */
  newsWaitingMax: 10_000,
  providerSilenceMs: 120_000,
  /** Of an error that a service sends, the beginning. Of an answer: one event of it, all of it, and what is said in it. */
  errorBodyBytesMax: 1024 * 1024,
  answerEventBytesMax: 16 * 1024 * 1024,
  answerBytesMax: 256 * 1024 * 1024,
  answerCharsMax: 16 * 1024 * 1024,
  /** How often a call is tried again that a model could not take, how long the first wait is, and the longest that is waited for. */
  retriesMax: 3,
  retryWaitMs: 1000,
  retryWaitMsMax: 60_000,
  shellTimeoutMs: 30_000,
  shellTimeoutMsMax: 300_000,
  /** What a timer can hold. */
  approvalTimeoutMsMax: 2 ** 31 - 1,
  providerOptionsCharsMax: 65_536,
  idleUnloadMs: 15 * 60_000,
  /** Of a title that we make; a person may give a longer one. */
  titleCharsMax: 80,
  givenTitleCharsMax: 200,
  previewCharsMax: 80,
  recentTextCharsMax: 240,
  recentTextMessages: 6,
} as const
