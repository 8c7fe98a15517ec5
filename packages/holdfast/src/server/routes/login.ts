import { ok } from '@holdfast/protocol'
import { z } from 'zod'
import { badTry } from '../auth/authenticate.ts'
import { defineRoute } from '../route.ts'

/** Turns the one-time code of the login link into the page's cookie, and takes the code out of the address bar. */
export const getLogin = defineRoute({
  method: 'GET',
  path: '/login',
  access: 'open',
  summary: 'Log the page in with the one-time code of the login link',
  query: z.object({ code: z.string().min(1).max(200) }),
  answers: { status: 303, mediaType: 'text/plain', schema: null },
  async handle({ input, remote }, { codes, cookie, tries }) {
    if (!codes.redeem(input.query.code)) {
      return badTry(tries, remote, 'This login link was used already, or is older than ten minutes. Ask for a new one.')
    }
    return ok(new Response(null, { status: 303, headers: { location: '/', 'set-cookie': cookie.issue() } }))
  },
})
