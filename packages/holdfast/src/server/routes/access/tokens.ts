import {
  CreatedToken,
  fault,
  ListedToken,
  ok,
  refuse,
  SharedSession,
  ShareOptions,
  TokenList,
  TokenOptions,
} from '@holdfast/protocol'
import { answersJson, defineRoute, type Route } from '../../define/route.ts'
import { sessionFaults } from '../../define/route-faults.ts'
import { idOf } from '../../streams/attachments.ts'

const noTokens = refuse(fault('not_found', 'This server stores no tokens.'))

const listTokens = defineRoute({
  on: 'GET /v1/tokens',
  summary: 'List the tokens that let clients in, without their secrets',
  answers: answersJson(TokenList),
  refuses: ['not_found'],
  async handle(_, { storedTokens }) {
    if (!storedTokens) return noTokens
    const found = await storedTokens.list()
    return found.ok ? ok({ tokens: found.value }) : found
  },
})

const createToken = defineRoute({
  on: 'POST /v1/tokens',
  summary: 'Create a token; only this answer has its secret',
  body: TokenOptions,
  answers: answersJson(CreatedToken, 201),
  refuses: ['not_found', ...sessionFaults],
  handle: async ({ input, caller }, { storedTokens }) => storedTokens?.create(input.body, idOf(caller)) ?? noTokens,
})

const revokeToken = defineRoute({
  on: 'DELETE /v1/tokens/:token',
  summary: 'Revoke a token by its id or name; its streams end within a second',
  answers: answersJson(ListedToken),
  refuses: ['not_found', 'bad_id'],
  handle: async ({ path }, { storedTokens }) => storedTokens?.revoke(path['token'] ?? '') ?? noTokens,
})

/** The secret is in the fragment of the link, which no browser sends to a server and no log shows. */
const shareSession = defineRoute({
  on: 'POST /v1/sessions/:id/share',
  summary: 'Create a link that shows one session, and nothing else, to anyone who has it',
  body: ShareOptions,
  answers: answersJson(SharedSession, 201),
  refuses: ['not_found'],
  async handle({ session, input, caller }, { storedTokens, links }) {
    if (!storedTokens) return noTokens
    const { name = 'link', ...expiry } = input.body
    const created = await storedTokens.create({ name, role: 'viewer', session, ...expiry }, idOf(caller))
    if (!created.ok) return created
    const { secret, ...token } = created.value
    return ok({ token, link: links.share(secret) })
  },
})

export const tokenRoutes: readonly Route[] = [listTokens, createToken, revokeToken, shareSession]
