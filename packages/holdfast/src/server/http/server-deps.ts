import type { OnProblem } from '@holdfast/core/ports'
import type { Sessions } from '@holdfast/protocol'
import type { LoginCodes } from '../auth/login-codes.ts'
import type { LoginCookie } from '../auth/login-cookie.ts'
import type { OwnAddress } from '../auth/own-address.ts'
import type { AccessToken } from '../auth/token.ts'
import type { Tries } from '../auth/tries.ts'
import type { Attachments } from './attachments.ts'
import type { Archive } from './transfer-api.ts'

/** What routes are made of. */
export type ServerDeps = {
  readonly sessions: Sessions
  readonly archive: Archive
  readonly attachments: Attachments
  readonly version: string
  readonly now: () => number
  readonly describeApi: () => object
  readonly pageDir: string | null
  readonly tokens: readonly AccessToken[]
  readonly address: OwnAddress
  readonly codes: LoginCodes
  readonly cookie: LoginCookie
  readonly tries: Tries
  readonly heartbeatMs: number
  /** Aborts when the server is about to close: streams say goodbye. */
  readonly closing: AbortSignal
  readonly onProblem: OnProblem
}
