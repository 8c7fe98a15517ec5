import { isPackageMissing } from '../../system/system-error.ts'

/** Returns the observer that traces sessions, or null if the optional package `@opentelemetry/api` is not installed. */
export async function loadSessionSpans(load = () => import('./session-spans.ts')) {
  try {
    const { createSessionSpans } = await load()
    return createSessionSpans()
  } catch (error) {
    if (isPackageMissing(error, '@opentelemetry/api')) return null
    throw error
  }
}
