import { ok } from '@holdfast/protocol'
import { z } from 'zod'
import { badTry } from '../auth/authenticate.ts'
import { defineRoute } from '../http/route.ts'

/** Turns the one-time code of the login link into the page's cookie, and takes the code out of the address bar. */
export const getLogin = defineRoute({
  method: 'GET',
  path: '/login',
  access: 'open',
  summary: 'Log the page in with the one-time code of the login link',
  query: z.object({ code: z.string().min(1).max(200) }),
  answers: { status: 303, mediaType: 'text/plain', schema: null },
  async handle({ input, request, remote }, { codes, cookie, tries }) {
    if (codes.redeem(input.query.code)) return ok(toPage({ 'set-cookie': cookie.issue() }))
    // Whoever goes back in the browser's history to the used link is logged in already.
    if (cookie.isGood(request.headers.get('cookie') ?? undefined)) return ok(toPage({}))
    return badTry(tries, remote, 'This login link was used already, or is older than ten minutes. Ask for a new one.')
  },
})

const toPage = (headers: Readonly<Record<string, string>>) =>
  new Response(null, { status: 303, headers: { location: '/', ...headers } })
