import type { LocalSessions } from '@holdfast/core'
import type { OnProblem, Tenants } from '@holdfast/core/ports'
import type { Result } from '@holdfast/protocol'
import type { AuthenticateDeps } from '../auth/access.ts'
import type { LoginCodes, LoginCookie } from '../auth/login.ts'
import type { Proxies } from '../auth/proxies.ts'
import type { RequestLimit } from '../auth/rate-limit.ts'
import type { ServerAddress } from '../auth/server-address.ts'
import type { OwnFiles } from '../bodies/own-files.ts'
import type { Pace } from '../bodies/paced-body.ts'
import type { ByteBudget } from '../bodies/request-body.ts'
import type { Attachments } from '../streams/attachments.ts'
import type { Outbox } from '../streams/outbox.ts'
import type { Streams } from '../streams/streams.ts'
import type { ServerParts } from './server-parts.ts'

/** Checks whether the server can work for clients. Refused: not_ready. */
export type Readiness = () => Promise<Result<null>>

/** What a server that keeps tenants apart knows of them. */
export type ServerTenants = {
  /** Returns the sessions of a tenant, as if there were no others. */
  readonly sessions: (tenant: string) => LocalSessions
  readonly files: Tenants
}

/** The dependencies of the routes. */
export type ServerDeps = AuthenticateDeps &
  ServerParts & {
    readonly sessions: LocalSessions
    /** The directory of uploads that are being imported. */
    readonly spoolDir: string
    /** Counts the requests of each caller; null for no limit. */
    readonly requestLimit: RequestLimit | null
    readonly attachments: Attachments
    readonly outbox: Outbox
    readonly streams: Streams
    /** Null for a server that does not keep tenants apart: it lets none in. */
    readonly tenants: ServerTenants | null
    /** What uploads hold in memory. */
    readonly uploads: ByteBudget
    /** The files that tokens for one session stored. */
    readonly ownFiles: OwnFiles
    /** What JSON bodies hold in memory. */
    readonly bodies: ByteBudget
    /** How fast bodies must arrive. */
    readonly pace: Pace
    /** Checks whether the server can run sessions. */
    readonly ready: Readiness
    readonly version: string
    /** How many copies were saved when another program changed the files of the store: records may be missing. */
    readonly savedCopies: number
    readonly now: () => number
    /** Returns the OpenAPI document as JSON. */
    readonly describeApi: () => Promise<string>
    /** The folder of the built page; null serves no page. */
    readonly pageDir: string | null
    readonly address: ServerAddress
    readonly proxies: Proxies
    readonly links: Links
    readonly codes: LoginCodes
    readonly cookie: LoginCookie
    readonly heartbeatMs: number
    /** Aborts when the server starts to close, so that streams can send their last frame. */
    readonly closing: AbortSignal
    /** Receives unexpected errors. The client gets only the id that `where` names too. */
    readonly onProblem: OnProblem
  }

/** The addresses that the server gives to people. */
export type Links = {
  /**
   * Returns a link that logs a browser in, and the same for another device on the network, if it can reach us. With the id
   * of a stored token, the link and its login end with that token.
   */
  login(token?: string | null): { readonly link: string; readonly networkLink: string | null }
  /** Returns the link that shows a session to anyone who has it. */
  share(secret: string): string
}
