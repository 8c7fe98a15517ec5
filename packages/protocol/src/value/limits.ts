/**
 * Limits that users can reach or that several files share, with the unit in the name. A limit of one file is a named
 * constant of that file.
 */
export const limits = {
  promptBytesMax: 1024 * 1024,
  promptPartsMax: 64,
  promptsQueuedMax: 64,
  /** The text of all queued prompts: every snapshot shows it. */
  promptsQueuedCharsMax: 4 * 1024 * 1024,
  clientEventIdCharsMax: 200,
  clientEventCharsMax: 1024 * 1024,
  /** One command writes all its messages at once. */
  seedMessagesMax: 1000,
  branchesMax: 200,
  /** Edit boundaries of a session. */
  boundariesMax: 200,
  lineSpansMax: 1000,
  pinsMax: 100,
  /** Tool calls whose collapsed state differs from the default; the newest are remembered. */
  collapsesMax: 1000,
  /** Share of the model's context that pins may fill. */
  pinnedPart: 0.25,
  /** Share of the model's context that triggers a compaction; the second applies after an undo. */
  compactAt: 0.8,
  compactAgainAt: 0.95,
  /** Assumed context size of an unknown model. */
  contextTokens: 200_000,
  requestBodyBytesMax: 4 * 1024 * 1024,
  /** JSON bodies that a server holds at once, together, beyond the first 64 KiB of each. */
  requestBodiesBytesMax: 64 * 1024 * 1024,
  jsonDepthMax: 100,
  /** Keys and values of a request body, and keys of one object in it. */
  jsonValuesMax: 50_000,
  jsonKeysMax: 1000,
  stepsPerTurnMax: 100,
  callsPerRoundMax: 64,
  callArgsBytesMax: 1024 * 1024,
  /** Names, values and items of the JSON of a call's arguments. */
  callArgsValuesMax: 20_000,
  /** The same for all calls of an answer together: it is recorded at once. */
  answerArgsValuesMax: 40_000,
  /** A longer output is stored as a blob; these many bytes of its head and its tail are shown. */
  toolOutputInlineBytesMax: 32 * 1024,
  toolOutputHeadBytes: 8 * 1024,
  toolOutputBytesMax: 1024 * 1024 * 1024,
  /** A preview in a record, and the blob with the whole of a longer one. */
  previewBytesMax: 16 * 1024,
  previewWholeBytesMax: 16 * 1024 * 1024,
  /** Servers that a session does not use. */
  serversOffMax: 200,
  /** Questions that one call may put to a person, and what they may consist of. */
  questionsPerCallMax: 20,
  questionFieldsMax: 50,
  questionNameCharsMax: 200,
  fieldCharsMax: 10_000,
  fieldOptionsMax: 200,
  /** Files that the result of an own tool may name. */
  callFilesMax: 1000,
  toolPathCharsMax: 4096,
  shellCommandBytesMax: 100_000,
  readFileBytesMax: 50 * 1024,
  /** Bytes that are read to find the first line asked for in a file that is too long to be held in memory. */
  readSkippedBytesMax: 512 * 1024 * 1024,
  /** Lines of one read_file, and characters of a line that are shown. */
  readFileLinesMax: 2000,
  readLineCharsMax: 2000,
  editedFileBytesMax: 16 * 1024 * 1024,
  editsMax: 100,
  /** Places that one edit replaces. */
  editPlacesMax: 100_000,
  /** The hunks of a diff times the lines of the file: each hunk is searched in all lines. A single hunk always is. */
  diffLinesSearchedMax: 32_000_000,
  /** Content before a change that is kept, so that the change can be undone. Longer files are not read whole by any tool. */
  beforeImageBytesMax: 16 * 1024 * 1024,
  /** Files of one restore: it is one record. */
  restoredFilesMax: 2000,
  /** Changes that are read to list the files of a session, the newest first, and the characters of their paths. */
  touchedChangesMax: 20_000,
  touchedPathsCharsMax: 2 * 1024 * 1024,
  /** The diffs of one answer together; files beyond are listed without. */
  diffsCharsMax: 1024 * 1024,
  directoryEntriesMax: 500,
  /** Entries of a folder that are read to complete a path, and paths of one answer. */
  folderEntriesMax: 10_000,
  foundPathsMax: 200,
  foundPathTextCharsMax: 1000,
  /** Files that a session remembers to have read, with their ranges of lines. */
  seenFilesMax: 200,
  seenRangesMax: 20,
  seenPathCharsMax: 500,
  /** The list of tasks: every snapshot shows it. */
  todosMax: 100,
  todoCharsMax: 500,
  todoIdCharsMax: 50,
  /** All files of instructions of a session together. */
  instructionsBytesMax: 64 * 1024,
  /** Skills that a session follows at once; then the oldest one ends. */
  activeSkillsMax: 50,
  skillNameCharsMax: 64,
  /** A skill as its call, its prompt or the system text tells it first, and all skills of the system text together. */
  skillCharsMax: 100_000,
  /** A skill that the system text repeats after a compaction. */
  repeatedSkillCharsMax: 20_000,
  /** Size of each memory file, in requests and on disk. */
  memoryBytesMax: 16 * 1024,
  memoryNoteCharsMax: 2000,
  blobBytesMax: 64 * 1024 * 1024,
  /** Files that a server receives at once, together. */
  uploadsBytesMax: 128 * 1024 * 1024,
  /** A file uploaded for import. Some formats are parsed in one go, beside running sessions. */
  importBytesMax: 64 * 1024 * 1024,
  /** A file that describes the session of another program, beside it. */
  companionBytesMax: 1024 * 1024,
  /** How long a server waits for the next bytes of a body. Each byte adds time at this rate, up to `bodyStallMs` again. */
  bodyStallMs: 10_000,
  bodyBytesPerSecondMin: 8 * 1024,
  /** Imports that a server has accepted and not ended. They run one at a time. */
  importsWaitingMax: 16,
  /** The text of one imported message; a longer one becomes several. */
  importedTextCharsMax: 1024 * 1024,
  /** Names, values and items of the JSON of one line or document. */
  importedValuesMax: 4_000_000,
  /** One record of an own export or log, as JSON; the longest answer fits. */
  importedRecordCharsMax: 8 * 1024 * 1024,
  /** A file sent to a model unchanged. Providers accept 32 MB per request, in Base64. */
  fileBytesMax: 20_000_000,
  /** 5 MB in Base64, the limit of some providers. They would scale down a longer edge themselves. */
  imageBytesMax: 3_750_000,
  imageEdgeMax: 1568,
  imagePixelsMax: 100_000_000,
  textFileBytesMax: 256 * 1024,
  requestFilesBytesMax: 20_000_000,
  requestFilesMax: 100,
  pageMessagesMax: 500,
  /** A page of the transcript and the page of a snapshot, as JSON. A larger message is a page of its own. */
  pageBytesMax: 2 * 1024 * 1024,
  pageRecordsMax: 1000,
  /** Records that are read from the store at once, as JSON. */
  readCharsMax: 1024 * 1024,
  listSessionsMax: 1000,
  /** Sessions of one tree that are counted together. */
  treeSessionsMax: 10_000,
  searchHitsMax: 1000,
  /** Removed sessions that are listed by name; all are counted. */
  removalNamesMax: 1000,
  /** How long a trashed session can be restored. */
  trashKeptMs: 30 * 24 * 3_600_000,
  /** How long an unreferenced blob is retained; a prompt may be about to use it. */
  blobGraceMs: 24 * 3_600_000,
  prefixMatchesMax: 10,
  frameBufferBytesMax: 1024 * 1024,
  /** Bytes that a server holds for all clients that have not taken them yet; then it refuses to read more for anyone. */
  serverBufferBytesMax: 128 * 1024 * 1024,
  /** Connections of a server that are open at once; more are closed. */
  connectionsMax: 10_000,
  /** Sessions that one stream of several sessions follows. */
  streamSessionsMax: 200,
  /** Streams that join the connection of another one, such as those of the windows of a browser. */
  streamJoinsMax: 100,
  /** How long a client may take no byte of what waits for it, before it is cut off. */
  viewerStallMs: 30_000,
  /** How long a session that is stopped waits for work that ignores its abort. */
  stopWaitMs: 5_000,
  snapshotMessages: 100,
  snapshotEveryRecords: 256,
  draftSaveMs: 1000,
  heartbeatMs: 15_000,
  /** How long a client without a stream stays attached, and how many such clients one caller may have. */
  detachedClientMs: 30_000,
  detachedClientsMax: 100,
  /** The longest that a client may ask to stay attached without a stream, such as a tab in the background. */
  seatKeptMsMax: 24 * 60 * 60 * 1000,
  /** News buffered for a slow reader before its stream is ended. */
  newsWaitingMax: 10_000,
  providerSilenceMs: 120_000,
  /** Provider responses: the start of an error body, one event, the whole answer in bytes, characters and parts. */
  errorBodyBytesMax: 1024 * 1024,
  answerEventBytesMax: 4 * 1024 * 1024,
  /** Names, values and items of the JSON of one event. */
  answerEventValuesMax: 50_000,
  answerBytesMax: 256 * 1024 * 1024,
  /** A million tokens; the longest answers of models have 128,000. */
  answerCharsMax: 4 * 1024 * 1024,
  answerPartsMax: 2000,
  /** Retries of a failed model call: count, first wait, longest wait. */
  retriesMax: 3,
  retryWaitMs: 1000,
  retryWaitMsMax: 60_000,
  shellTimeoutMs: 120_000,
  shellTimeoutMsMax: 600_000,
  /** Commands of a session that run in the background at the same time. */
  backgroundShellsMax: 20,
  /** The end of the output of such a command that lists show. */
  backgroundTailCharsMax: 4000,
  /** The maximum of a JavaScript timer. */
  approvalTimeoutMsMax: 2 ** 31 - 1,
  providerOptionsCharsMax: 65_536,
  idleUnloadMs: 15 * 60_000,
  /** Subagents: how deep, at the same time in a tree, and in all for the session at its top. */
  subagentDepthMax: 3,
  subagentsRunningMax: 8,
  subagentsMax: 64,
  agentNameCharsMax: 64,
  taskCharsMax: 100_000,
  taskPreviewCharsMax: 200,
  /** What a subagent says last, about 8,000 tokens; the rest is a blob. */
  childResultBytesMax: 32_000,
  /** Logins of the page with one-time links, and with each token. The oldest ends when there are more. */
  loginsMax: 50,
  /** Tokens that one store holds, and the characters of a token's name. */
  tokensMax: 1000,
  tokenNameCharsMax: 100,
  /** How long a client may go on after its token was revoked by another process. */
  tokenCheckMs: 500,
  /** Caps that one store holds, payers and workspaces that one answer lists, and how long a store knows what was spent. */
  capsMax: 1000,
  spendingRowsMax: 200,
  spendingDaysMax: 400,
  /** Requests that each token may send at once, and the number that is added each second. */
  requestsAtOnceMax: 20_000,
  requestsPerSecondMax: 1000,
  /** A generated title; a person may give a longer one. */
  titleCharsMax: 80,
  givenTitleCharsMax: 200,
  previewCharsMax: 80,
  recentTextCharsMax: 240,
  recentTextMessages: 6,
} as const
