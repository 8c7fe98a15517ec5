import { z } from 'zod'
import { Role } from '../frame/frame.ts'
import { SessionNews } from '../frame/news.ts'
import { ClientId, CommandId, Seq, SessionId } from '../value/id.ts'
import { Command } from './command.ts'

/** What a client may do besides its role: a token says so over HTTP, the embedding program in the library. */
export const Authority = z.object({
  /** The token or login of the client; null for clients of the embedding program, which all count as one person. */
  person: z.string().nullable(),
  /** Whether it may claim control and abort as a viewer. */
  mayDrive: z.boolean(),
  /** Whether it may take control from anyone. */
  isAdmin: z.boolean(),
})
export type Authority = Readonly<z.infer<typeof Authority>>

/** A method of a session, or of all sessions, that its owner runs for another node. The arguments are plain JSON. */
export const NodeCall = z.object({ session: SessionId, method: z.string(), args: z.array(z.unknown()) })
export type NodeCall = {
  /** The session. */
  readonly session: SessionId
  /** The name of the method. */
  readonly method: string
  /** Its arguments. */
  readonly args: readonly unknown[]
}

const [started, changed, stopped, removed, restored] = SessionNews.options

/**
 * News as nodes tell them to each other. A removed session may have no row any more that names its tenant, so the news do. No
 * client gets it.
 */
export const NodeNews = z.discriminatedUnion('type', [
  ...([started, changed, stopped, restored] as const),
  removed.extend({ tenant: z.string().optional() }),
])
export type NodeNews = z.infer<typeof NodeNews>

/** How a client of one node follows a session of another, or attaches to it. */
export const NodeFollow = z.object({
  /** The session. */
  session: SessionId,
  /** The last seq the client has; without it the first frame is a snapshot. */
  after: Seq.optional(),
  /** The client; it has a role while it follows. */
  client: ClientId.optional(),
  /** The role it asks for. */
  role: Role.optional(),
  /** Whether it also gets the frames of all subagents. */
  children: z.boolean().optional(),
  /** What it may do. */
  caller: Authority,
})
export type NodeFollow = Readonly<z.infer<typeof NodeFollow>>

/** A command that one node sends to another for its client. */
export const ForwardedSubmission = z.object({
  commandId: CommandId,
  by: ClientId.nullable(),
  command: Command,
  mayDrive: z.literal(true).optional(),
  needsSeat: z.literal(true).optional(),
  person: z.string().optional(),
})
