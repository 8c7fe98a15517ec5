import './no-eval.ts'
import { connectHoldfast } from '@holdfast/client'
import { invariant } from '@holdfast/protocol'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { HoldfastContext } from './actions/holdfast-context.ts'
import { SharingContext } from './actions/sharing-context.ts'
import { App } from './app.tsx'
import { openServerOnScreen, ServerContext } from './models/server-context.ts'
import { openScreens, restWhenHidden } from './screens/screens.ts'
import { alone, ScreensContext } from './screens/use-screens.ts'
import { PermissionsContext } from './session/state/permissions-context.ts'
import { TrustContext } from './session/state/trust-context.ts'
import { sharedPath } from './shared-page.tsx'
import { UiRoot } from './ui/ui-root.tsx'

const root = document.getElementById('root')
invariant(root, 'index.html has no #root')

// The page of a share link shows one session, and has no login until it has opened its link. Its cookie is for that session
// only, so that it cannot use the connection that carries all.
const isShared = location.pathname === sharedPath
const holdfast = connectHoldfast(location.origin, undefined, { sharedStream: !isShared })
const server = openServerOnScreen(holdfast)
const screens = isShared ? alone : openScreens(holdfast.handles)
if (isShared) restWhenHidden(holdfast.handles)

createRoot(root).render(
  <StrictMode>
    <PermissionsContext value={holdfast}>
      <TrustContext value={holdfast}>
        <SharingContext value={holdfast}>
          <HoldfastContext value={holdfast}>
            <ScreensContext value={screens}>
              <ServerContext value={server}>
                <UiRoot>
                  <App holdfast={holdfast} />
                </UiRoot>
              </ServerContext>
            </ScreensContext>
          </HoldfastContext>
        </SharingContext>
      </TrustContext>
    </PermissionsContext>
  </StrictMode>,
)
