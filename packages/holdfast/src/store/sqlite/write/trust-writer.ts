import type { DatabaseSync } from 'node:sqlite'
import type { TrustChange } from '@holdfast/core/ports'

/** Changes what a workspace trusts, inside the transaction of the append that says so. */
export function createTrustWriter(database: DatabaseSync) {
  const grant = database.prepare('insert or ignore into trust (workspace, tool, args_hash) values (?, ?, ?)')
  const revokeTool = database.prepare('delete from trust where workspace = ? and tool = ?')
  const revokeAll = database.prepare('delete from trust where workspace = ?')

  return {
    apply(workspace: string, change: TrustChange): void {
      if (change.type === 'granted') grant.run(workspace, change.trust.tool, change.trust.argsHash ?? '')
      else if (change.tool === null) revokeAll.run(workspace)
      else revokeTool.run(workspace, change.tool)
    },
  }
}
