import { CSPProvider } from '@base-ui/react/csp-provider'
import { Tooltip } from '@base-ui/react/tooltip'
import type { ReactNode } from 'react'
import { Toasts } from './toast.tsx'

/** Surrounds the page. The content policy allows no style elements, so the primitives make none. */
export const UiRoot = ({ children }: { readonly children: ReactNode }) => (
  <CSPProvider disableStyleElements>
    <Tooltip.Provider delay={500}>
      {children}
      <Toasts />
    </Tooltip.Provider>
  </CSPProvider>
)
