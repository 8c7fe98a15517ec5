import { isPackageMissing } from '../../system/system-error.ts'
import type { SessionSpans } from './session-spans.ts'

type Load = () => Promise<{ readonly createSessionSpans: () => SessionSpans }>

const loadModule: Load = () => import('./session-spans.ts')

/** Returns the observer that traces sessions, or null if the optional package `@opentelemetry/api` is not installed. */
export async function loadSessionSpans(load: Load = loadModule): Promise<SessionSpans | null> {
  try {
    const { createSessionSpans } = await load()
    return createSessionSpans()
  } catch (error) {
    if (isPackageMissing(error, '@opentelemetry/api')) return null
    throw error
  }
}
