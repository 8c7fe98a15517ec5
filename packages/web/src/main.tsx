import './no-eval.ts'
import { connectSessions } from '@holdfast/client'
import { invariant } from '@holdfast/protocol'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { App } from './app.tsx'

const root = document.getElementById('root')
invariant(root, 'index.html has no #root')

createRoot(root).render(
  <StrictMode>
    <App sessions={connectSessions({ url: location.origin })} />
  </StrictMode>,
)
