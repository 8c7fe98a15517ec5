import { OfferGrant, ok, TrustedWorkspaceList, TrustRevoked, WorkspaceOffers } from '@holdfast/protocol'
import { z } from 'zod'
import { answersJson, defineRoute, type Route } from '../../define/route.ts'

const ofFolder = z.strictObject({ workdir: z.string().min(1).max(4096) })

const readOffers = defineRoute({
  on: 'GET /v1/trust',
  summary: 'List what the files of a workspace offer, and what of it is trusted',
  query: ofFolder,
  answers: answersJson(WorkspaceOffers),
  refuses: ['not_found'],
  handle: ({ input }, { trust }) => trust.offers(input.query.workdir),
})

const grantTrust = defineRoute({
  on: 'POST /v1/trust',
  summary: 'Trust some of what a workspace offers, exactly as it was shown',
  body: OfferGrant,
  answers: answersJson(WorkspaceOffers),
  refuses: ['not_found'],
  handle: ({ input }, { trust }) => trust.grant(input.body),
})

const revokeTrust = defineRoute({
  on: 'DELETE /v1/trust',
  summary: 'Take back all trust in a workspace',
  query: ofFolder,
  answers: answersJson(TrustRevoked),
  refuses: ['not_found'],
  handle: ({ input }, { trust }) => trust.revoke(input.query.workdir),
})

const listTrusted = defineRoute({
  on: 'GET /v1/trust/workspaces',
  summary: 'List the workspaces that are trusted',
  answers: answersJson(TrustedWorkspaceList),
  refuses: ['not_found'],
  async handle(_, { trust }) {
    const found = await trust.list()
    return found.ok ? ok({ workspaces: [...found.value] }) : found
  },
})

export const trustRoutes: readonly Route[] = [readOffers, grantTrust, revokeTrust, listTrusted]
