import { escapeLine, type SessionView } from '@holdfast/protocol'

/** The model of a session, and who answers in its place while another does. */
export const modelText = ({ model, fallback }: Pick<SessionView, 'model' | 'fallback'>): string =>
  fallback === null ? escapeLine(model) : `${escapeLine(fallback)} in place of ${escapeLine(model)}`
