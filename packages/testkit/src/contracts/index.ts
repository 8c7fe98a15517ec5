export { blobTestBytesMax, describeBlobs } from './blobs.ts'
export { describeProvider, type ProviderSubject } from './provider.ts'
export { describeStore } from './store.ts'
export { describeBlobUses } from './store-blob-uses.ts'
export { describeCatalogue } from './store-catalogue.ts'
export {
  appendTo,
  codeOf,
  entryOf,
  mustAppend,
  mustCreate,
  newSession,
  type OpenStore,
  type OwnedSession,
  readAll,
  recordAt,
  seqsOf,
  sessionId,
  textSaid,
  textsAfter,
} from './store-fixture.ts'
export { describeLeases } from './store-leases.ts'
export { describeLists } from './store-lists.ts'
export { describeLog } from './store-log.ts'
export { describePermissionRules } from './store-permission-rules.ts'
export { describeReads } from './store-reads.ts'
export { describeSearch } from './store-search.ts'
export { aCharge } from './store-spending.ts'
export { describeTenants } from './store-tenants.ts'
export { describeTrash } from './store-trash.ts'
export { createToolRun, describeTool, openWorkdir, readTree, type ToolSample } from './tool.ts'
