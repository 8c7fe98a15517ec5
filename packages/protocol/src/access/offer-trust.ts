import { z } from 'zod'
import { fault } from '../value/fault.ts'
import { FolderPath } from '../value/id.ts'
import { ok, type Result, refuse } from '../value/result.ts'

/** What the files of a workspace can bring along that acts, or speaks with a person's voice. */
export const OfferKind = z.enum(['skill', 'command', 'agent', 'hook', 'server', 'memory'])
export type OfferKind = z.infer<typeof OfferKind>

/** One thing that a workspace offers, with what a person has decided about it. It takes effect only once it is trusted. */
export const JudgedOffer = z.object({
  /** What it is. */
  kind: OfferKind,
  /** Its name among the offers of its kind. */
  name: z.string(),
  /** The file it comes from, relative to the workspace. */
  path: z.string(),
  /** What it would do or say, in full. */
  text: z.string(),
  /** Identifies all of that, and the files of the workspace that it runs. */
  hash: z.string(),
  /** `changed`: something of this name was trusted, but not this. */
  verdict: z.enum(['trusted', 'changed', 'new']),
  /** The text that was trusted instead; null unless it changed. */
  before: z.string().nullable(),
  /** The difference to that text by lines, as a unified diff; null unless it changed, and if its beginning is the same. */
  diff: z.string().nullable(),
})
export type JudgedOffer = z.infer<typeof JudgedOffer>

/** What a workspace offers. */
export const WorkspaceOffers = z.object({
  /** The folder that is trusted: the root of the repository, or the folder itself. */
  workspace: z.string(),
  /** All that it offers, trusted or not. */
  offers: z.array(JudgedOffer),
})
export type WorkspaceOffers = z.infer<typeof WorkspaceOffers>

const offersMax = 1000

/** Which offers to trust: exactly those that a person has seen. */
export const OfferGrant = z.strictObject({
  /** A folder of the workspace. */
  workdir: FolderPath.min(1),
  /** The offers, by what `offers` returned of them. */
  offers: z
    .array(z.strictObject({ kind: OfferKind, name: z.string().max(4096), hash: z.string().max(128) }))
    .min(1)
    .max(offersMax),
})
export type OfferGrant = z.infer<typeof OfferGrant>

/** A workspace that a person trusts, with what was trusted of it. */
export const TrustedWorkspace = z.object({
  /** Its folder. */
  workspace: z.string(),
  /** What was trusted, as it was then. */
  items: z.array(JudgedOffer.pick({ kind: true, name: true, path: true, text: true, hash: true })),
})
export type TrustedWorkspace = z.infer<typeof TrustedWorkspace>

export const TrustedWorkspaceList = z.object({ workspaces: z.array(TrustedWorkspace) })

/** Whether there was any trust to take back. */
export const TrustRevoked = z.object({ workspace: z.string(), wasTrusted: z.boolean() })
export type TrustRevoked = z.infer<typeof TrustRevoked>

const absolute = /^(\/|[A-Za-z]:[\\/])/

/** Parses the path of a folder. It is absolute: what it means must not depend on where a program was started. Refused: bad_workdir. */
export function parseAbsoluteFolder(given: unknown): Result<string> {
  const folder = FolderPath.safeParse(given)
  if (folder.success && absolute.test(folder.data)) return ok(folder.data)
  return refuse(fault('bad_workdir', 'Give the absolute path of a folder.'))
}

/** Lists what workspaces offer, and trusts it. */
export interface OfferTrust {
  /** Returns what the workspace of a folder offers now. Refused: bad_workdir. */
  offers(workdir: string): Promise<Result<WorkspaceOffers>>
  /** Trusts offers. Refused: not_found if one of them is not offered in this form any more. */
  grant(grant: OfferGrant): Promise<Result<WorkspaceOffers>>
  /** Takes back all trust in the workspace of a folder. */
  revoke(workdir: string): Promise<Result<TrustRevoked>>
  /** Lists the workspaces that are trusted. */
  list(): Promise<Result<readonly TrustedWorkspace[]>>
}
