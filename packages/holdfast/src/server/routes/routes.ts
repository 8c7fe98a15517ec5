import type { Route } from '../define/route.ts'
import { attachmentRoutes } from './attachments.ts'
import { blobRoutes } from './blobs.ts'
import { commandRoutes } from './commands.ts'
import { eventRoutes, newsRoutes } from './events.ts'
import { loginRoutes } from './login.ts'
import { modelSettingRoutes } from './model-settings.ts'
import { folderRoutes } from './paths.ts'
import { permissionRoutes } from './permissions.ts'
import { healthRoutes, serverRoutes } from './server.ts'
import { sessionRoutes } from './sessions.ts'
import { spendingRoutes } from './spending.ts'
import { streamRoutes } from './stream.ts'
import { tokenRoutes } from './tokens.ts'
import { transferRoutes } from './transfer.ts'
import { trashRoutes } from './trash.ts'
import { trustRoutes } from './trust.ts'
import { workspaceRoutes } from './workspaces.ts'

/** All routes, with who may call them. A test calls each one without a token. */
export const routes: readonly Route[] = [
  ...healthRoutes,
  ...loginRoutes,
  ...serverRoutes,
  ...modelSettingRoutes,
  ...tokenRoutes,
  ...spendingRoutes,
  ...permissionRoutes,
  ...trustRoutes,
  ...workspaceRoutes,
  ...folderRoutes,
  ...sessionRoutes,
  ...newsRoutes,
  ...streamRoutes,
  ...eventRoutes,
  ...attachmentRoutes,
  ...commandRoutes,
  ...blobRoutes,
  ...trashRoutes,
  ...transferRoutes,
]
