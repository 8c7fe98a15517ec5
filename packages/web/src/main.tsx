import './no-eval.ts'
import { connectHoldfast } from '@holdfast/client'
import { invariant } from '@holdfast/protocol'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { App } from './app.tsx'
import { PermissionsContext } from './session/state/permissions-context.ts'
import { SharingContext } from './session/state/sharing-context.ts'
import { TrustContext } from './session/state/trust-context.ts'

const root = document.getElementById('root')
invariant(root, 'index.html has no #root')

const holdfast = connectHoldfast(location.origin)

createRoot(root).render(
  <StrictMode>
    <PermissionsContext value={holdfast}>
      <TrustContext value={holdfast}>
        <SharingContext value={holdfast}>
          <App holdfast={holdfast} />
        </SharingContext>
      </TrustContext>
    </PermissionsContext>
  </StrictMode>,
)
