import type { StoredToken } from '@holdfast/core/ports'
import { Access, EndedLogins, fault, LoginLink, ok, type Result, refuse } from '@holdfast/protocol'
import { z } from 'zod'
import { authenticate } from '../../auth/access.ts'
import { codeLifeMs, isShareLink } from '../../auth/login.ts'
import { answersJson, defineRoute, type Route } from '../../define/route.ts'
import type { ServerDeps } from '../../define/server-deps.ts'

/** Exchanges the one-time code of the login link for a cookie, and removes the code from the address bar. */
const getLogin = defineRoute({
  on: 'GET /login',
  summary: 'Log the page in with the one-time code of the login link',
  query: z.object({ code: z.string().min(1).max(200) }),
  answers: {
    status: 303,
    mediaType: 'text/plain',
    schema: null,
    headers: { Location: 'The page', 'Set-Cookie': 'The login' },
  },
  refuses: ['unauthorized', 'too_many_tries'],
  async handle({ input, request, remote, isSecure }, deps) {
    const { codes, attempts, storedTokens } = deps
    const code = codes.redeem(input.query.code)
    const token = code?.token ? ((await storedTokens?.get(code.token)) ?? null) : null
    // A link that a token made ends with the token, and so does its login.
    if (code && (code.token === null || token)) {
      const issued = await startLogin(deps, token, isSecure)
      return issued.ok ? ok(redirectToPage({ 'set-cookie': issued.value })) : issued
    }
    // Going back in the browser history opens the used link again, already logged in.
    if ((await authenticate(deps, request, remote)).ok) return ok(redirectToPage({}))
    return attempts.refuse(remote, usedLink)
  },
})

const usedLink =
  'This login link was already used, is older than ten minutes, or was made with a token that ended. On the machine of the server, `holdfast login` prints a new one.'

/** Stores a login, so that it can be ended, and returns its cookie. Refused: storage_error. */
async function startLogin(
  { storedTokens, cookie }: Pick<ServerDeps, 'storedTokens' | 'cookie'>,
  token: StoredToken | null,
  isSecure: boolean,
): Promise<Result<string>> {
  if (!storedTokens || (token && isShareLink(token))) return ok(cookie.issue({ token, isSecure }))
  const login = await storedTokens.logins.start(token)
  return login.ok ? ok(cookie.issue({ token, login: login.value, isSecure })) : login
}

/** Exchanges a token for a cookie. The secret of a share link comes here from the fragment of its address. */
const postLogin = defineRoute({
  on: 'POST /v1/login',
  summary: 'Log the page in with a token, such as that of a share link',
  body: z.strictObject({ token: z.string().min(1).max(200) }),
  answers: { ...answersJson(Access), headers: { 'Set-Cookie': 'The login' } },
  refuses: ['unauthorized', 'too_many_tries'],
  async handle({ input, remote, isSecure }, deps) {
    const { storedTokens, attempts } = deps
    const token = (await storedTokens?.find(input.body.token)) ?? null
    if (token === null) return attempts.refuse(remote, 'This token or link is unknown, was revoked or has expired.')
    const issued = await startLogin(deps, token, isSecure)
    if (!issued.ok) return issued
    const { role, session, tenant, expiresAt } = token
    return ok(Response.json({ role, session, tenant, expiresAt }, { headers: { 'set-cookie': issued.value } }))
  },
})

const createLoginLink = defineRoute({
  on: 'POST /v1/login-links',
  summary: 'Create a link that logs a browser in; it works once, for ten minutes',
  answers: answersJson(LoginLink, 201),
  async handle({ caller }, { links, now }) {
    const tokenEnds = caller?.expiresAt ? Date.parse(caller.expiresAt) : Number.POSITIVE_INFINITY
    const expiresAt = new Date(Math.min(now() + codeLifeMs, tokenEnds)).toISOString()
    return ok({ ...links.login(caller?.token), expiresAt })
  },
})

const logOut = defineRoute({
  on: 'POST /v1/logout',
  summary: 'End the login of this page; its streams end within a second',
  answers: { ...answersJson(EndedLogins), headers: { 'Set-Cookie': 'Removes the login' } },
  refuses: ['storage_error'],
  async handle({ caller, isSecure }, { storedTokens, cookie }) {
    if (!caller?.login || !storedTokens) return refuse(noLogin)
    const ended = await storedTokens.logins.end(caller.login)
    if (!ended.ok) return ended
    return ok(Response.json({ ended: 1 }, { headers: { 'set-cookie': cookie.remove(isSecure) } }))
  },
})

const noLogin = fault(
  'bad_request',
  'This request has no login of the page to end. A token or a share link is ended by `holdfast token revoke`.',
)

const endLogins = defineRoute({
  on: 'DELETE /v1/logins',
  summary: 'End all logins of the page, and login links that were not used yet; their streams end within a second',
  answers: answersJson(EndedLogins),
  refuses: ['not_found', 'storage_error'],
  async handle(_, { storedTokens, codes }) {
    if (!storedTokens) return refuse(fault('not_found', 'This server stores no logins.'))
    codes.clear()
    return storedTokens.revokeLogins()
  },
})

const getAccess = defineRoute({
  on: 'GET /v1/access',
  summary: 'Tell what the token or login of this request may do',
  answers: answersJson(Access),
  async handle({ caller }, { storedTokens, spending }) {
    const { role, session = null, tenant = null, expiresAt = null } = caller ?? {}
    const about = { role, session, ...(tenant !== null && { tenant }), expiresAt }
    const token = caller?.token ? await storedTokens?.get(caller.token) : null
    if (!token) return ok(about)
    const spent = await spending.read() // a server that knows nothing of spending has no caps
    const caps = spent.ok ? spent.value.caps.filter((cap) => cap.token === token.id) : []
    return ok({ ...about, token: { id: token.id, name: token.name }, caps })
  },
})

const redirectToPage = (headers: Readonly<Record<string, string>>) =>
  new Response(null, { status: 303, headers: { location: '/', ...headers } })

export const loginRoutes: readonly Route[] = [getLogin, postLogin, createLoginLink, logOut, endLogins, getAccess]
