import { join, relative } from 'node:path'
import { findWorkspaceRoot } from '../../system/files/workspace-root.ts'
import { createOffer, type Offer } from '../../trust/offer.ts'
import type { TrustedWorkspaces } from '../../trust/trusted-workspaces.ts'
import { type MemoryTrust, workspaceFile } from './memory.ts'

export const createMemoryTrust = (
  trusted: Pick<TrustedWorkspaces, 'judge' | 'grant'>,
  userDir: string,
): MemoryTrust => ({
  async isTrusted(workdir, text) {
    const workspace = await findWorkspaceRoot(workdir, userDir)
    const judged = await trusted.judge(workspace, [offerMemory(workspace, workdir, text)])
    return judged.ok && judged.value[0]?.verdict === 'trusted'
  },
  async grant(workdir, text) {
    const workspace = await findWorkspaceRoot(workdir, userDir)
    return trusted.grant(workspace, [offerMemory(workspace, workdir, text)])
  },
})

/** Returns the memory of a workdir as what its workspace offers. */
export function offerMemory(workspace: string, workdir: string, text: string): Offer {
  const path = join(relative(workspace, workdir), workspaceFile)
  return createOffer({ kind: 'memory', name: path, path, text })
}
