import { join } from 'node:path'
import type { Home } from '../system/home.ts'
import { unifiedDiff } from '../tools/edits/unified-diff.ts'
import { createTrustedWorkspaces, type TrustedWorkspaces } from '../trust/trusted-workspaces.ts'

/** Opens what people trust of workspaces: files of this machine, which all processes share. */
export const openTrustedWorkspaces = ({ dataDir }: Home): TrustedWorkspaces =>
  createTrustedWorkspaces(join(dataDir, 'trust'), unifiedDiff)
