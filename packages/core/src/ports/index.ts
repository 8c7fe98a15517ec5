export type { AreUsed, BlobSweep, Blobs, BlobUses, SweepOptions } from './blobs.ts'
export type {
  Catalogue,
  CatalogueEntry,
  CatalogueRow,
  Listed,
  ListPage,
  ListRequest,
  SessionName,
} from './catalogue.ts'
export type { Clock } from './clock.ts'
export type { FittedImage, Images, UnfitImage } from './images.ts'
export type { Instructions } from './instructions.ts'
export type { Lease, Leases, NodeRow } from './lease.ts'
export type { Append, EncodedRecord, Log, NewSession, ReadRange, ReadRecord } from './log.ts'
export type { ObservedRetry, ObservedText, ObservedWork, Observer } from './observer.ts'
export { busyOwners, ownedStatus } from './owned-status.ts'
export type { OnProblem, Problem } from './problem.ts'
export type {
  AssistantPart,
  ModelEnd,
  ModelPart,
  ModelReadiness,
  ModelRequest,
  Models,
  Provider,
  ProviderMeta,
  RequestMessage,
  SaidPart,
  ToolResultPart,
  ToolSchema,
  UserPart,
} from './provider.ts'
export type { RequestAsked, RequestBuilder, WindowPlace } from './request-builder.ts'
export type { Search, SearchHit, SearchPage, SearchRequest } from './search.ts'
export type { Draft, Drafts, Snapshots, Store, StoredSnapshot } from './store.ts'
export type { SummaryFiles } from './summary-files.ts'
export type { Prepared, Tool, ToolArgs, ToolPlace, ToolResult, ToolRun, Tools } from './tool.ts'
export type { TrustChange, Trusts } from './trusts.ts'
