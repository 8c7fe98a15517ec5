import type { Fault, ModelName, Result, SessionId, Settings } from '@holdfast/protocol'
import type { Blobs } from '../ports/blobs.ts'
import type { Clock } from '../ports/clock.ts'
import type { Images } from '../ports/images.ts'
import type { NodeRow } from '../ports/lease.ts'
import type { Observer, OnProblem } from '../ports/observer.ts'

import type { Models } from '../ports/provider.ts'
import type { RequestBuilder } from '../ports/request-builder.ts'
import type { Store } from '../ports/store.ts'
import type { Instructions, SummaryFiles, Tools } from '../ports/tool.ts'
import type { SessionState } from '../session/state.ts'
import type { RunningAnswer } from './running-answer.ts'
import type { SessionStorage } from './storage-health.ts'
import type { Hub } from './stream/hub.ts'

/** The adapters the runtime works with; the composition root brings them. */
export type RuntimeDeps = {
  readonly store: Store
  readonly blobs: Blobs
  /** For sessions of which nothing may be on disk. */
  readonly memoryBlobs: Blobs
  /** For sessions that are stored; put together on this thread when absent, as those of all others are. */
  readonly requests?: RequestBuilder | undefined
  readonly images: Images
  readonly models: Models
  /** Writes the summaries, where it can be called and takes what it is to sum up; else the session's model does. */
  readonly compactionModel?: ModelName | undefined
  readonly tools: Tools
  readonly instructions: Instructions
  readonly artefacts: SummaryFiles
  readonly clock: Clock
  readonly newSessionId: () => SessionId
  /** The real path of a directory that exists. Refused: bad_workdir. */
  readonly resolveWorkdir: (path: string) => Promise<Result<string>>
  /** Where what nobody foresaw is told: our own bugs. */
  readonly onProblem: OnProblem
  /** Looks on, for traces and logs; nobody does when absent. */
  readonly observer?: Observer | undefined
}

/** What the effects of one session share. */
export type EffectDeps = RuntimeDeps & {
  readonly requests: RequestBuilder
  readonly session: SessionId
  readonly epoch: number
  readonly hub: Hub
  readonly storage: SessionStorage
  readonly state: () => SessionState
  /** What of the model's window cannot be read, as a fault; null when all can. */
  readonly findDamage: () => Promise<Fault | null>
  /** Ends what is done for commands outside the mailbox, when someone aborts. */
  readonly aside: () => AbortSignal
  /** The answer under way, if a model is answering: an abort keeps its words. */
  answer: RunningAnswer | null
}

/** What a node brings beside its adapters: its name, and what only the world can tell. */
export type NodeDeps = RuntimeDeps & {
  readonly node: NodeRow
  /** Whether a registered node still answers. */
  readonly isAlive: (node: NodeRow) => Promise<boolean>
  /** A handle nobody is likely to have; `attempt` grows while they do. */
  readonly newHandle: (attempt: number) => string
  /** Names the sessions that nobody named, after their first turn; nobody does when absent. */
  readonly titleModel?: Settings['model'] | undefined
  /** How long a session that owes nothing stays in memory; `limits.idleUnloadMs` when absent. */
  readonly idleUnloadMs?: number | undefined
}
