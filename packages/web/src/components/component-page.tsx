import '../no-eval.ts'
import { invariant } from '@holdfast/protocol'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { UiRoot } from '../ui/ui-root.tsx'
import { Primitives } from './primitives.tsx'
import { Samples } from './samples.tsx'

const root = document.getElementById('root')
invariant(root, 'components.html has no #root')

createRoot(root).render(
  <StrictMode>
    <UiRoot>
      <main className="components">
        <h1>Components</h1>
        <Primitives />
        <Samples />
      </main>
    </UiRoot>
  </StrictMode>,
)
