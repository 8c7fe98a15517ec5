import { escapeLine, type SessionView } from '@holdfast/protocol'

/** Returns the model, and its fallback while one is used. */
export const modelText = ({ model, fallback }: Pick<SessionView, 'model' | 'fallback'>): string =>
  fallback === null ? escapeLine(model) : `${escapeLine(fallback)} instead of ${escapeLine(model)}`
