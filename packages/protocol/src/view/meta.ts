import { z } from 'zod'
import { Subagent } from '../event/child.ts'
import { type EventOf, messagesAfter, type Recorded } from '../event/event.ts'
import { firstLine, textOf } from '../event/text-of.ts'
import { Handle, Instant, Key, SessionId } from '../value/id.ts'
import { limits } from '../value/limits.ts'
import { Mode, ModelName, providerOf, Status } from '../value/settings.ts'
import { Usage } from '../value/usage.ts'
import { usageAfter } from './usage-folds.ts'
import type { SessionView } from './view.ts'

/** The row of a session in a list. */
export const Meta = z.object({
  /** The id of the session. */
  id: SessionId,
  /** A short name that people can type. */
  handle: Handle,
  /** The embedding program's own name for it. */
  key: Key.optional(),
  /** The title: a given one, or the first line of the first prompt. */
  title: z.string(),
  /** The folder it works in. */
  workspace: z.string(),
  /** The model in use. */
  model: ModelName,
  /** Provider of the model. */
  provider: z.string(),
  /** Whether it is idle, works, failed or was interrupted. */
  status: Status,
  /** How many calls wait for an approval; absent if none does. */
  waiting: z.int().min(1).optional(),
  /** `plan` denies tools that change something. */
  mode: Mode,
  /** When it was started. */
  createdAt: Instant,
  /** When its last message was said. */
  lastMessageAt: Instant,
  /** How many messages and calls its line has. */
  messageCount: z.int().min(0),
  /** How many turns its line has. */
  turnCount: z.int().min(0),
  /** How many branches are saved. */
  branchCount: z.int().min(0),
  /** Usage of all its model calls. */
  usage: Usage,
  /** The beginning of the first prompt. */
  preview: z.string(),
  /** The beginning of the latest messages, for searching lists. */
  recentText: z.string(),
  /** Listed first and protected from prune and clearAll. */
  pinned: z.boolean(),
  /** When it was trashed, if it is in the trash. */
  trashedAt: Instant.optional(),
  /** The session that it was forked from or started for. */
  parent: SessionId.optional(),
  /** Set if a call of its parent started it. Lists show it only under its parent. */
  subagent: Subagent.optional(),
  /** Runs in the background. */
  background: z.literal(true).optional(),
  /** In memory only; it ends with its process. */
  persist: z.literal(false).optional(),
  /** Set if no hooks run in the session. */
  hooksEnabled: z.literal(false).optional(),
  /** How many clients are attached now. */
  attachments: z.int().min(0),
})
export type Meta = z.infer<typeof Meta>

/**
 * Returns the row after one record; the second argument is the session's view after it. `recentText` needs more than a
 * row holds: the catalogue computes it, and here it stays as it is.
 */
export function addToMeta(
  meta: Meta,
  {
    status,
    mode,
    model,
    branches,
    pendingApprovals,
  }: Pick<SessionView, 'status' | 'mode' | 'model'> & {
    readonly branches: { readonly length: number }
    readonly pendingApprovals: { readonly length: number }
  },
  { at, event }: Recorded,
): Meta {
  const isSpeech = event.type === 'user.said' || event.type === 'text.said'
  const opening = event.type === 'user.said' && meta.preview === '' ? (event.typed ?? textOf(event)) : ''
  const { title: named, pinned, workdir } = event.type === 'settings.changed' ? event : noSettings
  const moved = event.type === 'line.moved' ? event.shown?.preview : undefined
  const before = moved === undefined ? meta : withPreview(meta, moved)
  // Every field is set by name: this runs for each record, and to copy the fields of a second object takes longer.
  const after = {
    ...before,
    status,
    mode,
    model,
    provider: model === before.model ? before.provider : providerOf(model),
    // Without a title the first line is shown; the preview is as long as a generated title may be.
    title:
      moved === undefined
        ? ((named === '' ? meta.preview : named) ?? (meta.title || firstLine(opening, limits.titleCharsMax)))
        : before.title,
    preview: moved === undefined ? meta.preview || firstLine(opening, limits.previewCharsMax) : before.preview,
    lastMessageAt: isSpeech ? at : meta.lastMessageAt,
    messageCount: messagesAfter(meta.messageCount, event),
    branchCount: branches.length,
    turnCount: turnsAfter(event) ?? meta.turnCount,
    usage: usageAfter(meta.usage, event),
    pinned: pinned ?? meta.pinned,
    workspace: workdir ?? meta.workspace,
  }
  return withWaiting(after, pendingApprovals.length)
}

function withWaiting(meta: Meta, count: number): Meta {
  if (count === (meta.waiting ?? 0)) return meta
  const { waiting: _, ...rest } = meta
  return count === 0 ? rest : { ...rest, waiting: count }
}

/** Returns the row on a line with another beginning. A title that nobody gave follows it. */
const withPreview = (meta: Meta, preview: string): Meta => ({
  ...meta,
  title: meta.title === meta.preview ? preview : meta.title,
  preview,
})

type NewSettings = Partial<Pick<EventOf<'settings.changed'>, 'title' | 'pinned' | 'workdir'>>
const noSettings: NewSettings = {}

function turnsAfter(event: Recorded['event']): number | null {
  if (event.type === 'turn.started') return event.turn + 1
  return event.type === 'line.moved' ? event.turns : null
}
