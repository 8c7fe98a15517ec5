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
export type { Lease, Leases, NodeRow } from './lease.ts'
export { busyOwners, ownedStatus } from './lease.ts'
export type { ListCursor } from './list-cursor.ts'
export { badCursor, compareListPlaces, decodeListCursor, encodeListCursor } from './list-cursor.ts'
export type { Append, EncodedRecord, Log, NewSession, ReadRange, ReadRecord, TrustChange, Trusts } from './log.ts'
export type { ObservedRetry, ObservedText, ObservedWork, Observer, OnProblem, Problem } from './observer.ts'
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
export type {
  Instructions,
  Prepared,
  SummaryFiles,
  Tool,
  ToolArgs,
  ToolPlace,
  ToolResult,
  ToolRun,
  Tools,
} from './tool.ts'
