#!/usr/bin/env bash
# The steps of action.yml and of mbplugin.gitlab-ci.yml. What they are given comes in variables, never as text of a command:
#   LINT_PATHS  files and folders, one a line        FAIL_ON, BASELINE, FIX, STOPS   as the inputs of action.yml
#   BASE, HEAD  commits of the pull request          RESULTS                         folder of what is written
set -euo pipefail

RESULTS=${RESULTS:-mbplugin-results}
# what GitHub and GitLab accept in one comment, less what stands around it
LONGEST=64000

FRESH='
import json, os, sys
known = set(os.environ["KNOWN"].splitlines())
with open(sys.argv[1], encoding="utf-8") as file:
    review = json.load(file)
fresh = [one for one in review["comments"] if one["body"].splitlines()[-1] not in known]
with open(sys.argv[1], "w", encoding="utf-8") as file:
    json.dump({**review, "comments": fresh}, file)
sys.exit(not fresh)
'

install_tool() {
  local extras=${EXTRAS:-}
  if [[ ! $extras =~ ^[a-z,]*$ ]]; then
    echo "mbplugin: the extras are letters and commas, such as xacro,yaml" >&2
    return 2
  fi
  # from the checkout of the action itself, never from an index by its name
  python -m pip install --quiet --disable-pip-version-check "$ACTION_PATH${extras:+[$extras]}"
}

read_paths() {
  local line
  PATHS=()
  while IFS= read -r line; do
    [[ -z $line ]] || PATHS+=("$line")
  done <<< "${LINT_PATHS:-.}"
  [[ ${#PATHS[@]} -gt 0 ]] || PATHS=(.)
}

output() {
  [[ -z ${GITHUB_OUTPUT:-} ]] || printf '%s=%s\n' "$1" "$2" >> "$GITHUB_OUTPUT"
}

lint() {
  local options=()
  mkdir -p "$RESULTS"
  read_paths
  [[ -z ${FAIL_ON:-} ]] || options+=("--fail-on=$FAIL_ON")
  [[ -z ${BASELINE:-} ]] || options+=("--baseline=$BASELINE")
  output sarif "$RESULTS/lint.sarif"
  if [[ ${FIX:-} == true ]]; then
    local review=()
    [[ -z ${BASE:-} ]] || review=("--changes=$BASE...${HEAD:-HEAD}" "--report=github-review=$RESULTS/review.json")
    # what cannot be mended is said below, by the findings themselves
    mbplugin lint --diff "${options[@]}" "${review[@]}" --force -- "${PATHS[@]}" \
      > "$RESULTS/fixes.patch" 2> "$RESULTS/unmended.txt" || [[ $? -le 2 ]]
  fi
  mbplugin lint "${options[@]}" --output-format "${ANNOTATIONS:-github}" --force \
    --report "sarif=$RESULTS/lint.sarif" --report "gitlab=$RESULTS/codequality.json" \
    --report "junit=$RESULTS/junit.xml" -- "${PATHS[@]}"
}

# Each model that the pull request changes, at its base and now; other files that a model reads belong to it.
diff_models() {
  local summary=$RESULTS/summary.md part=$RESULTS/part.md left=0 options=() ancestor file code
  mkdir -p "$RESULTS"
  read_paths
  : > "$summary"
  output summary "$summary"
  ancestor=$(git merge-base "$BASE" HEAD) || {
    echo "mbplugin: the base of the pull request is not in this clone: check out with fetch-depth: 0" >&2
    return 2
  }
  [[ ${STOPS:-} != true ]] || options+=(--stops)
  while IFS= read -r -d '' file; do
    [[ $file =~ \.(urdf|sdf|world|xacro|xml|mjcf|usd[acz]?)$|\.scene\.toml$ ]] || continue
    code=0
    # paths of git start at the root of the repository
    mbplugin diff "${options[@]}" --output-format github -- "${ancestor:0:16}:$file" "$(git rev-parse --show-cdup)$file" \
      > "$part" 2> "$part.err" || code=$?
    if [[ $code -gt 1 ]]; then
      # a part of a model, or one that cannot be read, which the lint reports; one line, so that it holds no command
      printf 'not compared: %q\n' "$file"
      continue
    fi
    [[ $code -eq 1 ]] || continue
    if (( $(wc -m < "$summary") + $(wc -m < "$part") > LONGEST )); then
      left=$((left + 1))
      continue
    fi
    [[ ! -s $summary ]] || sed -i 1d "$part"
    cat "$part" >> "$summary"
  done < <(git diff-tree -r --name-only --no-renames --diff-filter=M -z "$ancestor" HEAD -- "${PATHS[@]}")
  rm -f "$part" "$part.err"
  [[ $left -eq 0 ]] || printf '\n%d more models differ.\n' "$left" >> "$summary"
  [[ -s $summary ]] || printf '<!-- mbplugin:diff -->\nNo robot changes.\n' > "$summary"
  [[ -z ${GITHUB_STEP_SUMMARY:-} ]] || cat "$summary" >> "$GITHUB_STEP_SUMMARY"
}

# One comment, which later runs update, and a review with suggestions; the answers of GitHub are not printed.
comment() {
  local place=repos/$REPOSITORY/issues known
  if [[ -s $RESULTS/summary.md ]]; then
    known=$(gh api --paginate "$place/$NUMBER/comments" \
      --jq '.[] | select(.user.type == "Bot" and (.body | startswith("<!-- mbplugin:diff -->"))) | .id' | head -n 1)
    if [[ -n $known ]]; then
      gh api --silent --method PATCH "$place/comments/$known" --field "body=@$RESULTS/summary.md"
    else
      gh api --silent --method POST "$place/$NUMBER/comments" --field "body=@$RESULTS/summary.md"
    fi
  fi
  [[ -s $RESULTS/review.json ]] || return 0
  known=$(gh api --paginate "repos/$REPOSITORY/pulls/$NUMBER/comments" --jq '.[].body' \
    | grep -oE '<!-- mbplugin:fix [0-9a-f]{16} -->' || true)
  # suggestions that are made already are not made again
  if KNOWN=$known python -I -c "$FRESH" "$RESULTS/review.json"; then
    gh api --silent --method POST "repos/$REPOSITORY/pulls/$NUMBER/reviews" --input "$RESULTS/review.json"
  fi
}

case ${1:-} in
  install) install_tool ;;
  lint) lint ;;
  diff) diff_models ;;
  comment) comment ;;
  *)
    echo "usage: ci.sh install|lint|diff|comment" >&2
    exit 2
    ;;
esac
