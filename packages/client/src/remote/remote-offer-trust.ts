import {
  HookList,
  type HookLister,
  OfferGrant,
  type OfferTrust,
  parseAbsoluteFolder,
  parseOptions,
  TrustedWorkspaceList,
  TrustRevoked,
  WorkspaceOffers,
} from '@holdfast/protocol'
import { type Http, parseAnswer, queryOf } from '../http/http.ts'

/** The trust of the user who runs the server. */
export const createRemoteOfferTrust = (wire: Http): OfferTrust => ({
  async offers(given) {
    const workdir = parseAbsoluteFolder(given)
    if (!workdir.ok) return workdir
    const answer = await wire.json(`/v1/trust${queryOf({ workdir: workdir.value })}`)
    return parseAnswer(answer, 'what a workspace offers', WorkspaceOffers)
  },
  async grant(given) {
    const grant = parseOptions(OfferGrant, given, 'trust the offers')
    if (!grant.ok) return grant
    return parseAnswer(await wire.json('/v1/trust', { body: grant.value }), 'what is trusted', WorkspaceOffers)
  },
  async revoke(given) {
    const workdir = parseAbsoluteFolder(given)
    if (!workdir.ok) return workdir
    const answer = await wire.json(`/v1/trust${queryOf({ workdir: workdir.value })}`, { method: 'DELETE' })
    return parseAnswer(answer, 'the end of trust', TrustRevoked)
  },
  async list() {
    const answer = await wire.json('/v1/trust/workspaces')
    return parseAnswer(answer, 'a list of workspaces', TrustedWorkspaceList.shape.workspaces, 'workspaces')
  },
})

/** The hooks of the user who runs the server. */
export const createRemoteHooks = (wire: Http): HookLister => ({
  async list(given) {
    const workdir = parseAbsoluteFolder(given)
    if (!workdir.ok) return workdir
    const answer = await wire.json(`/v1/hooks${queryOf({ workdir: workdir.value })}`)
    return parseAnswer(answer, 'a list of hooks', HookList.shape.hooks, 'hooks')
  },
})
