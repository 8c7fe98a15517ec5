export { blobTestBytesMax, describeBlobs } from './blobs.ts'
export { describeProvider, type ProviderSubject } from './provider.ts'
export { describeStore } from './store.ts'
export {
  appendTo,
  codeOf,
  entryOf,
  mustAppend,
  mustCreate,
  newSession,
  readAll,
  recordAt,
  said,
  seqsOf,
  sessionId,
  textsAfter,
} from './store-fixture.ts'
export { createToolRun, describeTool, openWorkdir, readTree, type ToolSample } from './tool.ts'
