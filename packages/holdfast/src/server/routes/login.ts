import { Access, LoginLink, ok } from '@holdfast/protocol'
import { z } from 'zod'
import { codeLifeMs } from '../auth/login.ts'
import { answersJson, defineRoute, type Route } from '../define/route.ts'

/** Exchanges the one-time code of the login link for a cookie, and removes the code from the address bar. */
const getLogin = defineRoute({
  on: 'GET /login',
  summary: 'Log the page in with the one-time code of the login link',
  query: z.object({ code: z.string().min(1).max(200) }),
  answers: {
    ...{ status: 303, mediaType: 'text/plain', schema: null },
    headers: { Location: 'The page', 'Set-Cookie': 'The login' },
  },
  refuses: ['unauthorized', 'too_many_tries'],
  async handle({ input, request, remote, isSecure }, { codes, cookie, attempts, storedTokens }) {
    const code = codes.redeem(input.query.code)
    const token = code?.token ? ((await storedTokens?.get(code.token)) ?? null) : null
    // A link that a token made ends with the token, and so does its login.
    if (code && (code.token === null || token))
      return ok(redirectToPage({ 'set-cookie': cookie.issue({ token, isSecure }) }))
    // Going back in the browser history opens the used link again, already logged in.
    if (cookie.loginsOf(request.headers.get('cookie')).length > 0) return ok(redirectToPage({}))
    return attempts.refuse(remote, usedLink)
  },
})

const usedLink =
  'This login link was already used, is older than ten minutes, or was made with a token that ended. On the machine of the server, `holdfast login` prints a new one.'

/** Exchanges a token for a cookie. The secret of a share link comes here from the fragment of its address. */
const postLogin = defineRoute({
  on: 'POST /v1/login',
  summary: 'Log the page in with a token, such as that of a share link',
  body: z.strictObject({ token: z.string().min(1).max(200) }),
  answers: { ...answersJson(Access), headers: { 'Set-Cookie': 'The login' } },
  refuses: ['unauthorized', 'too_many_tries'],
  async handle({ input, remote, isSecure }, { storedTokens, cookie, attempts }) {
    const token = (await storedTokens?.find(input.body.token)) ?? null
    if (token === null) return attempts.refuse(remote, 'This token or link is unknown, was revoked or has expired.')
    const { role, session, tenant, expiresAt } = token
    const headers = { 'set-cookie': cookie.issue({ token, isSecure }) }
    return ok(Response.json({ role, session, tenant, expiresAt }, { headers }))
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

export const loginRoutes: readonly Route[] = [getLogin, postLogin, createLoginLink, getAccess]
