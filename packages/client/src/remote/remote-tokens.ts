import {
  Access,
  CreatedToken,
  EndedLogins,
  ListedToken,
  LoginLink,
  parseOptions,
  parseSessionName,
  parseTokenName,
  type Result,
  SharedSession,
  ShareOptions,
  TokenList,
  TokenOptions,
  type Tokens,
} from '@holdfast/protocol'
import { type Http, parseAnswer } from '../http/http.ts'

/** The tokens of a server. */
export const createRemoteTokens = (wire: Http): Tokens => ({
  async create(given) {
    const options = parseOptions(TokenOptions, given, 'create the token')
    if (!options.ok) return options
    return parseAnswer(await wire.json('/v1/tokens', { body: options.value }), 'a new token', CreatedToken)
  },
  list: async () => parseAnswer(await wire.json('/v1/tokens'), 'a list of tokens', TokenList.shape.tokens, 'tokens'),
  async revoke(given) {
    const name = parseTokenName(given)
    if (!name.ok) return name
    const answer = await wire.json(`/v1/tokens/${encodeURIComponent(name.value)}`, { method: 'DELETE' })
    return parseAnswer(answer, 'the end of a token', ListedToken)
  },
  revokeLogins: async () =>
    parseAnswer(await wire.json('/v1/logins', { method: 'DELETE' }), 'the end of logins', EndedLogins),
})

/** Creates a link that shows one session. */
export async function shareSession(wire: Http, name: string, given: ShareOptions = {}): Promise<Result<SharedSession>> {
  const options = parseOptions(ShareOptions, given, 'share the session')
  if (!options.ok) return options
  const form = parseSessionName(name)
  if (!form.ok) return form
  const answer = await wire.json(`/v1/sessions/${encodeURIComponent(name)}/share`, { body: options.value })
  return parseAnswer(answer, 'a link', SharedSession)
}

/** Creates a link that logs a browser in. */
export const createLoginLink = async (wire: Http): Promise<Result<LoginLink>> =>
  parseAnswer(await wire.json('/v1/login-links', { method: 'POST' }), 'a login link', LoginLink)

/** Tells what the token or login of this client may do. */
export const readAccess = async (wire: Http): Promise<Result<Access>> =>
  parseAnswer(await wire.json('/v1/access'), 'a question for the role', Access)

/** Ends the login of a page. */
export const logOut = async (wire: Http): Promise<Result<EndedLogins>> =>
  parseAnswer(await wire.json('/v1/logout', { method: 'POST' }), 'a logout', EndedLogins)

/** Exchanges a token for the cookie of a page. */
export const logIn = async (wire: Http, token: string): Promise<Result<Access>> =>
  parseAnswer(await wire.json('/v1/login', { body: { token } }), 'a login', Access)
