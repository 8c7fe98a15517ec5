import { z } from 'zod'
import { Handle, Instant, Key, SessionId } from './id.ts'
import { Mode, ModelName } from './settings.ts'
import { Status } from './status.ts'
import { Usage } from './usage.ts'

/** What a list shows of a session, without reading its transcript. */
export const Meta = z.object({
  id: SessionId,
  handle: Handle,
  key: Key.optional(),
  title: z.string(),
  workspace: z.string(),
  model: ModelName,
  status: Status,
  mode: Mode,
  createdAt: Instant,
  lastMessageAt: Instant,
  messageCount: z.int().min(0),
  turnCount: z.int().min(0),
  branchCount: z.int().min(0),
  usage: Usage,
  preview: z.string(),
  recentText: z.string(),
  pinned: z.boolean(),
  parent: SessionId.optional(),
  attachments: z.int().min(0),
})
export type Meta = z.infer<typeof Meta>
