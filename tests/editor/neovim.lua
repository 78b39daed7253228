-- A session of Neovim, without a window: open, type a wrong axis, see the diagnostic, apply the fix, save.
local file, python, log = vim.env.MODEL, vim.env.SERVER_PYTHON, {}
local function say(text) table.insert(log, text) end
local function wait(what, ok)
  if not vim.wait(60000, ok, 20) then
    say("no " .. what)
    vim.fn.writefile(log, vim.env.SAID)
    vim.cmd("cquit")
  end
end
vim.cmd("edit " .. vim.fn.fnameescape(file))
local client = vim.lsp.start_client({
  name = "mbplugin", cmd = { python, "-P", "-m", "mbplugin", "server" }, root_dir = vim.fn.fnamemodify(file, ":h"),
})
vim.lsp.buf_attach_client(0, client)
wait("client", function() return #vim.lsp.buf_get_clients(0) == 1 and vim.lsp.get_client_by_id(client).initialized end)
local function wrong()
  return vim.tbl_filter(function(one) return one.code == "MB125" end, vim.diagnostic.get(0))
end
local lines = vim.api.nvim_buf_get_lines(0, 0, -1, false)
for row, text in ipairs(lines) do
  local from = text:find('<axis xyz="0 -1 0"/>', 1, true)
  if from then
    vim.api.nvim_buf_set_text(0, row - 1, from + 12, row - 1, from + 14, { "-2" })
    break
  end
end
wait("diagnostic", function() return #wrong() == 1 end)
local found = wrong()[1]
say("diagnostic " .. found.code .. " " .. found.lnum + 1 .. " " .. found.message:gsub("\n.*", ""))
local params = vim.lsp.util.make_given_range_params({ found.lnum + 1, found.col }, { found.end_lnum + 1, found.end_col })
params.context = { diagnostics = vim.lsp.diagnostic.get_line_diagnostics(0, found.lnum) }
local answer = vim.lsp.buf_request_sync(0, "textDocument/codeAction", params, 60000)
local action = answer[client].result[1]
say("action " .. action.title)
if not action.edit then
  action = vim.lsp.buf_request_sync(0, "codeAction/resolve", action, 60000)[client].result
end
vim.lsp.util.apply_workspace_edit(action.edit, vim.lsp.get_client_by_id(client).offset_encoding)
wait("end of the diagnostic", function() return #wrong() == 0 end)
say("mended")
vim.cmd("write")
vim.fn.writefile(log, vim.env.SAID)
vim.cmd("qall!")
